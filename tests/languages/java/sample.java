package shop.orders;

import java.util.List;
import java.util.Map;

/** An order and its lines. */
@Entity
public class Order implements Comparable<Order> {
    private static final int LIMIT = 10;
    private final List<Line> lines;

    public Order(List<Line> lines) {
        this.lines = lines;
    }

    public long total() {
        return lines.stream().mapToLong(line -> line.price() * line.count()).sum();
    }

    public void add(Line line) {
        lines.add(line);
    }

    public void add(String name, int count, long... prices) {
        for (long price : prices) {
            add(new Line(name, count, price));
        }
    }

    @Override
    public int compareTo(Order other) {
        return Long.compare(total(), other.total());
    }

    public record Line(String name, int count, long price) {
        public Line {
            if (count < 0) throw new IllegalArgumentException("count");
        }
    }

    enum State {
        OPEN,
        PAID {
            @Override
            boolean isDone() { return true; }
        };

        boolean isDone() {
            return false;
        }
    }

    static class Index<K extends Comparable<K>> {
        Map<K, Order> byKey(final Map<K, ? extends List<Order>> orders) {
            return null;
        }
    }
}

interface Priced {
    int SCALE = 2;

    long price();

    default String shown() {
        return price() + " cents";
    }
}

@interface Entity {
    String value() default "";
}
