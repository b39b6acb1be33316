#include <string>
#include <vector>

#define CHECK(x) if (!(x)) fail()

namespace shapes {

constexpr double Pi = 3.14159;

template <typename T>
concept Drawable = requires(T t) { t.draw(); };

class Shape {
public:
    explicit Shape(std::string name) : name_(std::move(name)) {}
    virtual ~Shape() = default;
    virtual double area() const = 0;
    const std::string& name() const { return name_; }
    bool operator==(const Shape& other) const { return name_ == other.name_; }

private:
    std::string name_;
    struct Point { int x = 0, y = 0; };
};

template <typename T, int N = 3>
struct Grid {
    T cells[N];
    T& at(int x, int y);
};

template <typename T, int N>
T& Grid<T, N>::at(int x, int y) {
    return cells[x + y];
}

double area(const std::vector<Shape*>& all, double scale = 1.0) {
    double sum = 0;
    for (const auto* shape : all) sum += shape->area() * scale;
    return sum;
}

enum class Color : unsigned { Red, Green };

using Names = std::vector<std::string>;

namespace detail {
int hidden(int);
}

}  // namespace shapes

double shapes::Shape::area() const { return 0; }

extern "C" {
int shapes_version(void) { return 2; }
}

int main(int argc, char** argv) {
    auto twice = [](int x) { return 2 * x; };
    return twice(argc);
}
