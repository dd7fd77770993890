import java.util.*;

public class Main {
    enum Kind { A, B, C }
    static final int ONE = 1;
    static int calls;
    static int call(int n) { calls++; return n; }
    static String name(String s) { calls++; return s; }

    static String numbers(int n, char c, byte b, Integer boxed, Character letter) {
        String r = "";
        switch (n) { case 1: r += "one"; break; case 2: case 3: { r += "few"; break; } case -4: r += "neg"; break; default: r += "many"; break; }
        switch (n) { default: r += "d"; break; case ONE: r += "1"; break; case 1 + 1: r += "2"; }
        switch (n) { case 1: r += "x"; default: r += "y"; break; case 2: r += "z"; }
        switch (n) { case 1: if (c == 'a') break; r += "q"; break; case 2: r += "w"; }
        switch (c) { case 'a': r += "a"; break; case 'b': case 99: r += "bc"; }
        switch (b) { case 1: r += 1; break; case 'a': r += 2; break; default: }
        switch (boxed) { case 1: r += "b1"; break; default: r += "bd"; }
        switch (letter) { case 'a': r += "l1"; break; default: r += "ld"; }
        switch (call(n)) { case 1: r += "c1"; break; case 5: r += "c5"; break; default: r += calls; }
        switch (n % 3) { case 0: int t = 3; r += t; break; case 1: r += "m"; break; case 2: t = 4; r += t; }
        switch (n) { case 1: int u = 5; r += u; break; default: int w = 6; r += w; }
        if (n > 1) switch (n) { case 2: r += "in"; break; } else r += "out";
        for (int i = 0; i < 3; i++) { switch (i) { case 1: continue; case 2: r += "i2"; break; default: r += "i"; } r += ";"; }
        switch (n) { }
        switch (n) { default: r += "only"; }
        switch (n) {
            // first
            case 1: // after the label
                r += "k1"; // trailing
                break; // end
            /* between */
            case 2:
                r += "k2";
        }
        lab: switch (n) { case 1: r += "L"; break lab; case 2: break; default: r += "LD"; }
        return r;
    }

    static String strings(String s, Kind k) {
        String r = "";
        switch (s) { case "a": r += 1; break; case "b": case "c": r += 2; break; default: r += 3; }
        switch (name(s)) { case "a": r += "A"; break; case "q": r += "Q"; }
        switch (k) { case A: r += "ka"; break; case B: r += "kb"; break; }
        switch (k) { case A -> r += "xa"; case B, C -> { r += "xb"; if (r.length() > 3) break; r += "never"; } }
        switch (s) { case "a" -> r += "r1"; case "zz" -> throw new IllegalStateException(); default -> { r += "rd"; } }
        int v = switch (k) { case A: yield 1; default: yield 2; };
        int w = switch (s) { case "a" -> 5; default -> { switch (k) { case A: r += "n"; break; default: r += "m"; } yield 6; } };
        return r + v + w;
    }

    static int returning(int n) {
        switch (n) { case 1: return 10; case 2: return 20; default: return 30; }
    }

    static int returningSome(int n) {
        int x;
        switch (n) { case 1: x = 1; break; case 2: throw new IllegalArgumentException(); default: x = 3; }
        return x;
    }

    static String nulls() {
        String r = "";
        String s = null; Kind k = null; Integer i = null;
        try { switch (s) { case "a": r += 1; break; default: r += 2; } } catch (NullPointerException e) { r += "n"; }
        try { switch (k) { case A: r += 1; break; default: r += 2; } } catch (NullPointerException e) { r += "n"; }
        try { switch (i) { case 1: r += 1; break; default: r += 2; } } catch (NullPointerException e) { r += "n"; }
        return r;
    }

    public static void main(String[] args) {
        for (int n = -4; n < 6; n++)
            System.out.println(numbers(n, (char) ('a' + (n + 4) % 4), (byte) n, n, n == 1 ? 'a' : 'b') + returning(n) + (n == 2 ? 0 : returningSome(n)));
        for (String s : new String[] {"a", "b", "d"}) for (Kind k : Kind.values()) System.out.println(strings(s, k));
        System.out.println(nulls() + calls);
    }
}
