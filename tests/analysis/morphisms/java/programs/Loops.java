import java.util.*;
import java.util.function.*;

public class Main {
    static int step = 2;
    static final boolean ON = true;

    static int continues(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            if (i % 3 == 0) continue;
            switch (i) {
                case 4: s += 100; continue;
                case 5: s += 1000; break;
                default: s++;
            }
            for (int j = 0; j < i; j++) { if (j == 2) continue; if (j == 4) break; s += j; }
            s += i;
        }
        return s;
    }

    static String labels(int n) {
        StringBuilder b = new StringBuilder();
        outer:
        for (int i = 0, j = n; i < j; i++, j--) {
            inner: for (int k = 0; ; k++) {
                if (k > 4) break inner;
                if (k == i) continue outer;
                if (i * k == 6) break outer;
                b.append(i).append(k).append(' ');
            }
        }
        outer2: for (int i = 0; i < 3; ++i) { int q = 0; while (true) { if (q++ > i) continue outer2; b.append(q); } }
        return b.toString();
    }

    static String tries(int n) {
        String out = "";
        for (int i = 0; i < n; i++) {
            try {
                if (i == 1) continue;
                out += i;
            } finally {
                out += "f" + i;
            }
        }
        return out;
    }

    static int hiding() {
        int s = 0;
        for (int i = 0; i < 10; i += step) {
            int step = 5;
            s += step;
        }
        return s;
    }

    static int odd(int n) {
        int s = 0, i = 0;
        for (; i < n; ) s += i++;
        for (i = 0; i < n; i++);
        for (;;) { if (s > 3) break; s++; }
        for (int k = 0; k < 3; k++) if (k == 1) s += 10; else s += 20;
        if (s > 5) for (int k = 0; k < 3; k++) if (k == 1) s += 10; else s += 20;
        else s = -1;
        for (int k = 0, m = 2; k < m; k++) { int t = k; Supplier<Integer> f = () -> t + m; s += f.get(); }
        for (int k = 3; k > 0; k--) { int t = k; s += t; } // counts down
        for (int k = Integer.MAX_VALUE - 2; k > 0; k++) s++;
        while (n-- > 0) { if (n == 2) continue; s += n; }
        while (n < 3) n++;
        do { s++; for (int k = 0; k < 2; k++) s--; } while (s > 100000);
        return s + i + n;
    }

    static int returning(int n) {
        for (int i = 0; i < n; i++) { return i + 7; }
        for (int i = 0; i < n; i++) { if (i > 3) return i; else return 1; }
        for (int i = 0; ; i++) { if (i * i > 50 - n) return i; }
    }

    static int forever() { for (int i = 0; ON; i++) { if (i > 4) return i; } }

    static int again() { while (ON) { step++; if (step > 9) return step; } }

    static int late(int n) {
        int v;
        while (true) { v = n; if (v > 3) break; n++; }
        int w;
        for (;;) { w = v; break; }
        return v + w;
    }

    static String switched(int n) {
        String s = "";
        switch (n) { case 1: for (int i = 0; i < 2; i++) s += i; break; default: for (int i = 5; i < 7; i++) { s += i; } }
        for (int a = 0, i = 0; i < 2; a += 2, i++) { s += a; }
        for (int i = 0; i < 2; i++) { /* nothing */ }
        for (int i = 0 /* from */; i < 2; i++) { s += "c"; }
        for (String t : new String[] {"a", "b"}) { if (t.equals("a")) continue; s += t; }
        Runnable r = () -> { for (int i = 0; i < 2; i++) System.out.print(i); };
        r.run();
        return s;
    }

    static int catching() {
        int i = 0, seen = 0;
        try {
            for (i = 0; i < 5; i++) { int[] a = new int[3]; a[i] = 1; seen += a[i]; }
        } catch (ArrayIndexOutOfBoundsException e) { seen += 100 * i; }
        return seen;
    }

    public static void main(String[] args) {
        for (int n = 0; n < 9; n++) System.out.println(continues(n) + " " + labels(n) + " " + tries(n) + " " + odd(n) + " " + returning(n));
        System.out.println(hiding() + " " + forever() + " " + again() + " " + late(1) + " " + switched(1) + switched(2) + catching());
    }
}
