import java.util.*;
import java.util.function.*;

public class Main {
    static boolean field;
    static <T> T generic(T a) { return a; }
    @SuppressWarnings("unchecked") static <T> T wild() { return (T) Boolean.TRUE; }
    static boolean check(int n) { return n > 2; }
    static String over(Object o) { return "o" + o; }
    static String over(boolean b) { return "b" + b; }

    static String all(int n) {
        boolean f = n > 3;
        boolean g = false, h = check(n), i;
        Boolean boxed = n > 4;
        i = boxed;
        if (!f && g) g = !g;
        while (!g) { g = n-- < 0 || f; f = !f; }
        f |= h; g &= !h; h ^= f; f ^= true;
        boolean w = wild();
        boolean v = generic(f);
        boolean u = "a".equals("a" + n) ? true : f;
        boolean k = f = g;
        boolean t = (f), s = !(g), r = ! h;
        Supplier<Boolean> sup = () -> s;
        Object o = s;
        int c = s ? 1 : 2, d = !t ? 3 : 4;
        final boolean loop = true;
        for (boolean first = true; first; first = false) c++;
        for (boolean go = n < 5; loop; go = !go) { if (go) break; c += 2; }
        if (f != g || s == t & r) c += 10;
        String str = "" + f + g + h + i + w + v + u + k + t + s + r + sup.get() + o + c + d + over(t) + over((Object) s) + (Boolean) u;
        return str;
    }

    static boolean returned(int n) { boolean b = n > 1; return b; }
    static boolean tight(int n) { boolean b=n>1; return!b; }
    static int late(int n) { boolean b; if (n > 1) b = true; else b = field; int q = b ? 3 : 4; return q; }
    static boolean unused() { boolean b = true; b = false; return field; }
    static boolean inner(int n) {
        boolean seen = false;
        for (int i = 0; i < n; i++) switch (i) { case 2 -> seen = true; default -> { } }
        boolean[] box = {seen};
        Runnable r = () -> { boolean seen2 = box[0]; box[0] = !seen2; };
        r.run();
        boolean last = box[0] && n > 0;
        return last == seen;
    }

    public static void main(String[] args) {
        for (int n = -1; n < 8; n++)
            System.out.println(all(n) + returned(n) + tight(n) + late(n) + unused() + inner(n));
    }
}
