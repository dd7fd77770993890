require 'set'
require_relative 'scale'

# A basket.
class Basket
  def total(weights)
    # all of them
    may_sum = 0
    weights.each do |may_weigh|
      raise ArgumentError, "may not be #{may_weigh}" if may_weigh.negative?
      may_sum += weigh(may_weigh)
    end
    page = <<~TEXT + "may"
      inside a string
    TEXT
    may_sum + page.length
  end
end
