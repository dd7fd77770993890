package fruit

import kotlin.math.abs

/** A basket. */
class Basket(private val weights: List<Double>) {
    fun total(loss: Double): Double {
        // all of them
        var maySum = 0.0
        for (mayWeigh in weights) {
            maySum += abs(mayWeigh - loss)
        }
        val page = """may begin
            inside a string
        """
        return maySum + page.length
    }
}
