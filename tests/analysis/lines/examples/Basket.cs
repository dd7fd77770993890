using System.Linq;

namespace Fruit;

/// <summary>A basket.</summary>
public sealed class Basket
{
    private readonly double[] weights = { 1.0 };

    public double Total(double loss)
    {
        // all of them
        var maySum = weights.Sum(weight => weight - loss);
        var page = @"may begin
            inside a string";
        if (maySum < page.Length)
        {
            throw new System.InvalidOperationException($"may not be {maySum}");
        }
        return maySum;
    }
}
