import java.util.*;
import java.util.function.*;

public class Main {
    static int field = 3;
    static int other;
    int own = 1;
    static class Loud { static int VALUE; static { System.out.println("loud"); VALUE = 5; } }

    static int bump() { return ++field; }

    static String simple(int n, int[] a, List<Integer> list) {
        int p = n + 1;
        int q = n - 1;
        int s = p;
        p = 5;
        int t = field;
        int u = bump();
        int v = field;
        field = 9;
        a[0] = 4;
        int w = a[0];
        int[] alias = a;
        alias[0] = 7;
        int x = a[0];
        list.add(x);
        int size = list.size();
        StringBuilder b = new StringBuilder();
        b.append(size);
        String text = "" + b;
        b.append("!");
        System.out.println("one");
        System.out.println("two");
        int loud = 1;
        int made = Loud.VALUE;
        System.out.println("three");
        Runnable r = () -> System.out.println("in " + n);
        r.run();
        int k = 0;
        k++;
        int m = k;
        k += 2;
        return p + " " + q + s + t + u + v + w + x + size + text + b + loud + made + k + m + field;
    }

    static String failing(int zero, String nil, int[] a) {
        int seen = 0;
        int got = 1;
        try {
            seen = 1;
            got = 5 / zero;
            seen = 2;
            got = a[3];
        } catch (ArithmeticException | ArrayIndexOutOfBoundsException e) {
            seen += 10;
        }
        try {
            int l = nil.length();
            int d = 1 % zero;
            seen = 50 + l + d;
        } catch (RuntimeException e) {
            seen += e instanceof NullPointerException ? 100 : 200;
        }
        try {
            other = 1;
            int l = a[9];
            other = 2;
        } catch (RuntimeException e) {
            seen += other * 1000;
        }
        try {
            double d = 1.0 / zero;
            int e = (Integer) (Object) "x";
            seen = 7;
        } catch (ClassCastException e) {
            seen += 3;
        }
        return seen + " " + got;
    }

    Main() { this(4); int late = own; own = late + 1; }
    Main(int n) { super(); own = n; other = own; }

    static int looping(int n) {
        int a = 0, b = 0;
        for (int i = 0; i < n; i++) a += i;
        for (int i = 0; i < n; i++) b += a;
        if (n > 3) a = 1;
        int c = a;
        if (n > 2) b = 2; else b = 3;
        int d = b + c;
        { int e = d; d = e + 1; }
        int f = n > 3 ? a : b;
        final int g;
        g = f;
        int h;
        if (n == 4) h = 4; else h = 5;
        class Helper { int get() { return g; } }
        int i = new Helper().get();
        while (n-- > 0) { if (n == 2) break; d++; }
        int j = n;
        boolean z = false;
        z = true;
        assert z;
        return a + b * 10 + c * 100 + d * 1000 + f + g + h + i + j;
    }

    static int returns(int n) {
        int a = 1;
        if (n > 3) return a;
        int b = 2;
        if (n > 2) throw new IllegalStateException();
        synchronized (Main.class) { b++; }
        int c = b;
        do { c++; } while (c < n);
        ;
        int d = c;
        { }
        return a + b + c + d;
    }

    public static void main(String[] args) {
        System.out.println(simple(3, new int[2], new ArrayList<>()));
        System.out.println(failing(0, null, new int[1]) + failing(1, "abc", new int[4]));
        for (int n = 0; n < 6; n++) System.out.println(looping(n) + " " + (n == 3 ? 0 : returns(n)) + new Main().own);
    }
}
