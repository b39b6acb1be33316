import Foundation

let limit = 10
var running = false

typealias Handler = (String) -> Void

/// An order and its lines.
@MainActor
public final class Order: Priced, Codable {
    static let scale = 2
    private var lines: [Line] = []

    var total: Int {
        lines.reduce(0) { $0 + $1.price * $1.count }
    }

    var state: State = .open {
        didSet {
            print(oldValue)
        }
    }

    init(lines: [Line] = []) {
        self.lines = lines
    }

    convenience init?(path: String) throws {
        return nil
    }

    deinit {
        print("gone")
    }

    subscript(index: Int) -> Line {
        get { lines[index] }
        set { lines[index] = newValue }
    }

    func add(_ line: Line) {
        lines.append(line)
    }

    func move(to index: Int) {}

    func move(from index: Int) {}

    func add<T: Priced>(name: String, count n: Int = 1, prices: Int..., then: @escaping (Line) -> Void) async throws -> T? where T: Sendable {
        func doubled(_ n: Int) -> Int {
            return n * 2
        }
        guard n > 0 else { return nil }
        return nil
    }

    static func == (left: Order, right: Order) -> Bool {
        left.total == right.total
    }

    class func load() {}

    struct Cursor {
        var at = 0

        mutating func next() {
            at += 1
        }
    }
}

struct Line: Hashable {
    let name: String
    var count = 0, price = 0
}

enum State: Int {
    case open = 1
    case paid, closed

    var isDone: Bool { self == .closed }

    func label() -> String {
        switch self {
        case .open: return "Open"
        default: return "Done"
        }
    }
}

protocol Priced {
    associatedtype Unit
    var price: Int { get }
    func shown(in unit: Unit) -> String
    init(price: Int)
}

extension Order {
    func shout() -> String { "\(total)!" }
}

extension Array: Priced where Element == Line {
    var price: Int { 0 }
}

actor Registry {
    private var orders: [String: Order] = [:]

    func find(_ name: String) -> Order? {
        orders[name]
    }
}

func helper(text: String) -> String {
    text.trimmingCharacters(in: .whitespaces)
}

prefix operator +++

prefix func +++ (value: inout Int) -> Int {
    value += 1
    return value
}

@Test func addsALine() {
    #expect(true)
}

final class OrderTests: XCTestCase {
    func testTotal() {
        XCTAssertEqual(1, 1)
    }
}
