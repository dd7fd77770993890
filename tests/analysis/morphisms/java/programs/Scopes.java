import java.util.*;
import java.util.function.*;

class Base {
    int inherited = 7;
    int s = 70;
}

public class Main {
    static int x = 1;
    int y = 2;
    static String acc = "field";

    enum Color { RED, GREEN, BLUE }

    record Point(int x, int y) {
        Point {
            if (x < 0) throw new IllegalArgumentException("x");
        }
        Point(int both) { this(both, both); }
        int sum() { int x = this.x + y; return x; }
    }

    record Named(String name) {
        Named(String name) { this.name = name + "!"; }
    }

    static class Res implements AutoCloseable {
        final String name;
        Res(String name) { this.name = name; System.out.println("open " + name); }
        public void close() { System.out.println("close " + name); }
    }

    static int x(int x) { return x + Main.x; }

    int shadow(int y) {
        int z = y + this.y;
        x: for (int x = 0; x < 3; x++) {
            if (x == 1) continue x;
            z += x;
        }
        { int w = z; z = w + x; }
        { int w = -z; z = -w + 1; }
        return z + x(x);
    }

    static int anonymous(final int n) {
        int k = n * 2;
        Base b = new Base() {
            int n = 100;
            @Override public String toString() { return n + " " + k + " " + inherited + " " + s; }
        };
        Object o = new Object() {
            @Override public int hashCode() { int n = 5; return n + k; }
        };
        Supplier<Integer> f = () -> { int m = n + k; return m; };
        Function<Integer, Integer> g = m -> m + n;
        BiFunction<Integer, Integer, Integer> h = (p, q) -> p * q + k;
        System.out.println(b + " " + o.hashCode() + " " + f.get() + " " + g.apply(1) + " " + h.apply(2, 3));
        return k;
    }

    static class Child extends Base {
        String pattern(Object o) {
            if (!(o instanceof String s)) return "no " + s;
            return s + this.s;
        }
        String other(Object o) {
            String r = "";
            if (o instanceof Integer i && i > 3) r += i;
            else r += "none";
            if (o instanceof Integer i) { r += i + 1; }
            return r;
        }
        int super_(int n) {
            class Local extends Base { int get() { return inherited + n; } }
            return new Local().get();
        }
    }

    static String constants(Color c) {
        int RED = 4;
        String out = "";
        switch (c) {
            case RED: out = "red" + RED; break;
            case GREEN: out = "green"; break;
            default: out = "other";
        }
        return out;
    }

    static void resources() {
        String e = "before";
        try (Res r = new Res("a"); Res t = new Res(r.name + "b")) {
            System.out.println(r.name + t.name + e);
            throw new IllegalStateException("boo");
        } catch (IllegalStateException | IllegalArgumentException r) {
            System.out.println(r.getMessage());
        } finally {
            String r = "fin";
            System.out.println(r);
        }
        Res outer = new Res("c");
        try (outer) { System.out.println(outer.name); }
    }

    static <T extends Comparable<T>> T max(List<T> list) {
        T best = list.get(0);
        for (T t : list) if (t.compareTo(best) > 0) best = t;
        return best;
    }

    static int sum(int... list) {
        int total = 0, list2[] = {1, 2};
        for (int list1 : list) { total += list1; }
        return total + list2.length + list2[1];
    }

    static String acc() {
        String q = acc;
        String value = acc + q;
        return value;
    }

    static String methodReference(String text) {
        Function<String, String> join = text::concat;
        Function<String, Integer> length = String::length;
        return join.apply("z") + length.apply(text);
    }

    public static void main(String[] args) {
        System.out.println(new Main().shadow(5));
        System.out.println(anonymous(3));
        System.out.println(new Child().pattern("p") + new Child().pattern(1) + new Child().other(5) + new Child().super_(3));
        for (Color c : Color.values()) System.out.println(constants(c));
        resources();
        System.out.println(max(Arrays.asList(3, 9, 4)) + sum(1, 2, 3) + acc() + methodReference("abc"));
        System.out.println(new Point(4) + " " + new Point(1, 2).sum() + new Named("n"));
        int[] args2 = {3};
        Runnable r = () -> args2[0]++;
        r.run();
        System.out.println(args2[0]);
    }
}
