import 'dart:io';

part 'order.g.dart';

const limit = 10;
final List<int> primes = [2, 3], odds = [1, 3];
var running = false;
late String name;

typedef Handler = void Function(String text);

/// An order and its lines.
@immutable
class Order extends Base with Counted implements Priced {
  static const scale = 2;
  final List<Line> lines;
  String? _name;

  Order(this.lines, {String name = 'none'}) : _name = name;

  Order.empty() : this([]);

  const Order._(this.lines);

  factory Order.load(String path) {
    return Order([]);
  }

  int get total {
    var sum = 0;
    for (final line in lines) {
      sum += line.price * line.count;
    }
    return sum;
  }

  set name(String value) => _name = value;

  void add(Line line) => lines.add(line);

  Future<T?> find<T extends Line>(bool Function(T) test, [int from = 0, int? to]) async {
    int doubled(int n) {
      return n * 2;
    }
    return null;
  }

  @override
  bool operator ==(Object other) => other is Order;

  static Order parse(String text, {required int count, List<String>? names}) {
    return Order([]);
  }

  external void native(int code);
}

abstract interface class Priced {
  int price();
  String get unit;
}

mixin Counted on Base {
  int count() => 0;
}

extension Shout on String {
  String shout() => toUpperCase();
}

extension type Id(int value) {
  bool get isValid => value > 0;
}

enum State {
  open(1),
  paid(2);

  const State(this.code);
  final int code;

  bool isDone() => this == paid;
}

int helper(String text, [int n = 0]) {
  String trim(String value) => value.trim();
  return trim(text).length + n;
}

int get answer => 42;

set answer(int value) {}

void main() {
  group('order', () {
    test('is empty', () {
      expect(Order([]).total, 0);
    });
    testWidgets('shows', (tester) async {
      await tester.pump();
    });
  });
}
