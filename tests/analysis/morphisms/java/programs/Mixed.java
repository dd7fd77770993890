import java.util.*;
public class Main {
    static int cnt;
    int f = 3;
    static int g() { return cnt++; }
    class Inner { int f = 9; int get(int q) { int r = f + q; return r; } }
    static int gen(List<? extends Comparable<?>> l) { int s = l.size(); return s; }
    static String conc(String a, Object o, int i) { String s = a + o; String t = a + i; return s + t; }
    static long wide(int i) { long l = i; int j = i * 2; l += j; byte b = 1; b += 300; short sh = (short) i; char c = (char) (i + 'a'); c++; return l + b + sh + c; }
    static int div(int a, int b) { int r = 0; if (b != 0 && a / b > 1) r = 1; if (b == 0 || a % b == 0) r += 2; return r; }
    static Object tern(boolean b, Integer i) { Object o = b ? i : 2.0; Object p = b ? 'a' : 0; return o + "" + p; }
    static int shortc(int[] a) { int i = 0; while (i < a.length && a[i] != 3) i++; for (int k = 0; k < a.length && a[k] > 0; ++k) i += k; return i; }
    static int nested(int n) {
        int r = 0;
        for (int i = 0; i < n; i++) {
            for (int j = i; j < n; j++) {
                if (j % 2 == 0) { continue; }
                int k = j;
                while (k > 0) { k /= 2; if (k == 1) break; r++; }
                do { if (k == 0) continue; k--; } while (k > 0);
            }
            Runnable q = new Runnable() { int i = 5; public void run() { for (int j = 0; j < 2; j++) { if (j == 0) continue; cnt += i; } } };
            q.run();
        }
        return r;
    }
    static boolean flags(String s) {
        boolean open = false, ok = true;
        for (char c : s.toCharArray()) {
            if (c == '(') { if (open) { ok = false; break; } open = true; }
            else if (c == ')') { ok &= open; open = false; }
        }
        boolean res = ok && !open;
        return res ? res : !ok;
    }
    static String sw(int d) {
        String name;
        switch (d % 7) { case 0 -> name = "sun"; case 1 -> name = "mon"; default -> { String x = "day"; name = x + d; } }
        StringBuilder sb = new StringBuilder();
        for (char c : name.toCharArray()) {
            switch (c) { case 'a': case 'e': sb.append('*'); break; case 'n': { char up = Character.toUpperCase(c); sb.append(up); } break; default: sb.append(c); }
            switch (Character.toLowerCase(c)) { case 's': sb.append("!"); break; case 'u': sb.append("?"); }
            switch (sb.length() + "") { case "3": sb.append(3); break; default: break; }
        }
        return sb.toString();
    }
    static int fin(int n) { try { int a = n; int b = 10 / a; return b; } catch (ArithmeticException e) { int z = 1; return z; } finally { cnt++; int w = cnt; } }
    static <T extends Comparable<T>> int cmp(T a, T b) { int c = a.compareTo(b); if (c < 0 == a.equals(b)) return 5; return c > 0 ? 1 : c == 0 ? 0 : -1; }
    int own(int f) { int g = this.f; this.f = f; f = g + 1; int h = this.f; return f * 10 + h; }
    static int lateFinal(int n) { final int x; if (n > 2) x = 1; else x = 2; int y; y = x; int[] arr = {x, y}; arr[x - 1] = arr[0] + 1; int q = arr[0]; return q; }
    static double dbl(double x) { double y = x / 0; boolean n = y != y; boolean m = x < y || n; return (x > y ? 1 : 2) + (n ? 4 : 8) + (m ? 16 : 32); }
    static int strs() { String a = "x", b = new String("x"); boolean same = a == b; boolean eq = a.equals(b); int r = 0; if (same) r++; if (eq && !same) r += 2; return r; }
    static int sync(Object lock) { int r = 0; synchronized (lock) { for (int i = 0; i < 2; i++) { r += i; } boolean t = r > 0; if (t) r++; } return r; }
    static int varargs(Object... os) { int c = 0; for (Object o : os) { if (o == null) continue; boolean isS = o instanceof String; if (isS) c++; } return c; }
    static int deep(int n) { return n <= 0 ? 0 : n > 5 ? deep(n - 2) + 1 : deep(n - 1); }
    static int order() { int a = g(), b = g(); int c = g(); int d = a - b; int e = c - d; return a * 100 + b * 10 + e; }
    static int ws(int a){int b=a-1;boolean t=a>b,u=!t;if(t&&!u)return-b;else return+b;}
    public static void main(String[] args) {
        System.out.println(new Main().new Inner().get(2) + gen(List.of(1, 2)) + conc("a", null, 3) + wide(40000) + div(4, 0) + div(4, 2) + tern(true, 3) + tern(false, null));
        System.out.println(shortc(new int[] {1, 2, 3}) + nested(6) + " " + cnt + flags("()()") + flags("(()") + flags(")"));
        for (int d = 0; d < 4; d++) System.out.print(sw(d) + fin(d) + " " + lateFinal(d + 1) + dbl(d - 1));
        System.out.println(cmp(1, 2) + cmp("b", "a") + new Main().own(4) + strs() + sync("") + varargs(1, "a", null) + deep(9) + order() + ws(3));
    }
}
