package fruit;

import java.util.List;

/** A basket. */
final class Basket {
    private final List<Double> weights;

    Basket(List<Double> weights) {
        this.weights = weights;
    }

    double total(double loss) {
        double maySum = -1 * mayBe(loss);
        // every one
        for (double mayWeigh : weights) {
            maySum += Math.abs(mayWeigh);
        }
        String page = "may" + """
            inside a string
            """;
        /* a comment
           of two lines */
        return maySum + page.length() + "may".length();
    }
}
