import java.util.*;
import java.util.stream.*;

public class Main {
    sealed interface Shape permits Circle, Square { }
    record Circle(double radius) implements Shape { static int made = 0; Circle { made++; } }
    record Square(double side) implements Shape { double area() { var a = side * side; return a; } }
    @FunctionalInterface interface Op { int of(int a, int b); default Op twice() { return (a, b) -> of(of(a, b), b); } }
    non-sealed interface Free extends Other { }
    sealed interface Other permits Free { }

    static double area(Shape shape) {
        if (shape instanceof Circle c && c.radius() > 0) return 3 * c.radius() * c.radius();
        if (!(shape instanceof Square q)) { return 0; }
        return q.area();
    }

    static String block(String who) {
        var text = """
            Dear "%s",
              if (a < b) { x = 'y'; }\tand \\ more
            \s\
            end
            """;
        String switched = switch (who.length()) {
            case 0, 1 -> """
                short
                  one
                """;
            case 2 -> { var two = "two"; yield two + text.length(); }
            default -> "long";
        };
        switch (who) {
            case "ab":
                switched += """
                    in a
                      switch
                    """;
                break;
            default:
                switched += "-";
        }
        for (int i = 0; i < 2; i++) {
            switched += """
                in a loop
              """;
        }
        { int i = 3; switched += i; }
        return text.formatted(who) + switched;
    }

    static int streams(List<Integer> in) {
        var big = in.stream().filter(v -> v > 2).map(v -> { var w = v * 2; return w; }).collect(Collectors.toList());
        int sum = 0;
        for (final var v : big) sum += v;
        for (var it = big.iterator(); it.hasNext(); ) { var v = it.next(); if (v > 8) continue; sum -= v; }
        Op op = (var a, var b) -> a - b;
        return op.twice().of(sum, 1);
    }

    static int flowing(Object[] all) {
        int i = 0;
        while (!(all[i] instanceof String found)) { i++; }
        for (int k = 0; k < 1; k++) { i += k; }
        Object o = all[0];
        for (int k = 0; !(o instanceof String last); k++) { o = all[k]; }
        boolean both = found == last;
        boolean k = o instanceof String t && t.isEmpty();
        return both && !k ? i + found.length() : last.length();
    }

    public static void main(String... args) {
        System.out.println(area(new Circle(2)) + area(new Square(3)) + Circle.made + block("a") + block("ab") + block("abc") + streams(List.of(1, 2, 3, 4, 5)) + flowing(new Object[] {1, 2, "abc"}));
    }
}
