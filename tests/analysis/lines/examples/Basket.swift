import Foundation

/// A basket.
struct Basket {
    let weights: [Double]

    func total(_ loss: Double) throws -> Double {
        // all of them
        var maySum = 0.0
        for mayWeigh in weights {
            guard mayWeigh >= 0 else { throw BasketError.negative(mayWeigh) }
            maySum += abs(mayWeigh - loss)
        }
        let page = "may" + """
            inside a string
            """
        return maySum + Double(page.count)
    }
}
