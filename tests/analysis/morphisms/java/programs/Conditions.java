import java.util.*;

public class Main {
    static StringBuilder log = new StringBuilder();
    static int counter;
    static Integer nothing;

    static int next(String who) { log.append(who); return counter++; }
    static boolean say(boolean b) { log.append(b ? 't' : 'f'); return b; }
    static int fail(String s) { throw new IllegalStateException(s); }

    static String floats(double a, double b, float c) {
        boolean f = !(a < b);
        boolean g = a >= b, h = a != b || c == c;
        return "" + f + g + h + (a == a) + (a <= b) + (b > c);
    }

    static String sides(int n, int[] a, List<Integer> list) {
        String r = "";
        if (next("a") < next("b")) r += 1;
        if (n < next("c")) r += 2;
        if (counter < next("d")) r += 3;
        if (n == (n = 4)) r += 4;
        if (n < a.length && a[n] > 0) r += 5;
        if (n >= 0 && n < 9 || say(true)) r += 6;
        if (list != null && list.size() > n) r += 7;
        if (list == null || list.isEmpty()) r += 8;
        if (n > 2 == n < 5) r += 9;
        if ((n == 4) == true && n != 3) r += "A";
        if (n < a.length == say(false)) r += "B";
        if (say(n > 3) && say(n > 30)) r += "C";
        boolean u = n > 3, v = n < 10;
        if (u && v) r += "D";
        if (u || v && u) r += "E";
        return r + log;
    }

    static String throwing(Integer boxed, int[] a, Object o) {
        String r = "";
        try { if (boxed < fail("x")) r += 1; } catch (RuntimeException e) { r += e.getClass().getSimpleName(); }
        try { if (a[5] < fail("y")) r += 1; } catch (RuntimeException e) { r += e.getClass().getSimpleName(); }
        try { if (a[5] > nothing) r += 1; } catch (RuntimeException e) { r += e.getClass().getSimpleName(); }
        try { if (1 / a[0] == nothing) r += 1; } catch (RuntimeException e) { r += e.getClass().getSimpleName(); }
        try { if (o.toString().length() < ((String) o).length()) r += 1; } catch (RuntimeException e) { r += e.getClass().getSimpleName(); }
        return r;
    }

    static String text(String s, Integer p, Integer q) {
        String r="";
        if("a"==s)r+="same";
        if (s == "b") r += "b"; else if (p == q) r += "boxes"; else r += "none";
        if (p.equals(q) == (p <= q)) r += "eq";
        return"x"==s?"yes":r;
    }

    static boolean tight(int a, int b) { return a<b|b<-a; }

    static int late(boolean flag) {
        int x;
        if (flag && (x = next("l")) > -1) return x;
        boolean t = flag && counter > 0;
        int z;
        if (true || (z = 3) > 2) return t ? 1 : 2;
        return 5;
    }

    public static void main(String[] args) {
        System.out.println(floats(Double.NaN, 1, 2f) + floats(1, 2, Float.NaN) + floats(-0.0, 0.0, 0));
        System.out.println(sides(3, new int[] {1, 2, 3, 4, 5}, null) + sides(0, new int[0], Arrays.asList(1, 2, 3, 4, 5)));
        System.out.println(throwing(null, new int[] {0}, 3) + throwing(5, new int[] {0}, "s"));
        System.out.println(text("a", 1000, 1000) + text("b", 5, 5) + text("x", 1, 2));
        System.out.println(tight(1, 2) + " " + tight(2, -3) + late(true) + late(false) + log);
    }
}
