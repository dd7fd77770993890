#include <numeric>
#include <vector>

namespace fruit {

class Basket {
 public:
  double total() const {
    // all of them
    auto may_add = [](double sum, double weight) { return sum + weight; };
    const char *page = R"(may begin
      inside a string
    )";
    return std::accumulate(weights_.begin(), weights_.end(), may_start(page), may_add);
  }

 private:
  std::vector<double> weights_;
};

}  // namespace fruit
