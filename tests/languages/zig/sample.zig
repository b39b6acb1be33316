//! Orders and their lines.
const std = @import("std");
const Allocator = std.mem.Allocator;

pub const limit: usize = 10;
var running = false;
threadlocal var depth: u32 = 0;

/// An order and its lines.
pub const Order = struct {
    lines: []const Line,
    name: []const u8 = "none",

    pub const scale = 2;

    pub const Line = struct {
        count: u32,
        price: u64,

        fn sum(self: Line) u64 {
            return self.count * self.price;
        }
    };

    pub fn init(lines: []const Line) Order {
        return .{ .lines = lines };
    }

    pub fn total(self: *const Order) u64 {
        var result: u64 = 0;
        for (self.lines) |line| {
            result += line.sum();
        }
        return result;
    }

    fn find(comptime T: type, test_it: fn (T) bool, _: anytype) !?T {
        const Inner = struct {
            fn run(n: u32) u32 {
                return n * 2;
            }
        };
        _ = Inner.run(1);
        return error.NotFound;
    }

    test "total of none" {
        try std.testing.expectEqual(0, init(&.{}).total());
    }
};

pub const State = enum(u8) {
    open,
    paid = 4,
    _,

    pub fn isDone(self: State) bool {
        return self == .paid;
    }
};

const Value = union(enum) {
    int: i64,
    text: []const u8,

    fn shown(self: Value) void {
        _ = self;
    }
};

const Failure = error{ NotFound, TooLong };

const Handler = *const fn (text: []const u8) void;

fn List(comptime T: type) type {
    return struct {
        items: []T,

        fn push(self: *@This(), item: T) void {
            _ = self;
            _ = item;
        }
    };
}

extern "c" fn puts(text: [*:0]const u8) c_int;

export fn add(a: i32, b: i32) callconv(.C) i32 {
    return a + b;
}

const message =
    \\one
    \\  two
;

comptime {
    _ = Order;
}

test "adds" {
    try std.testing.expect(add(1, 2) == 3);
}

test Order {
    _ = Order;
}

test {
    std.testing.refAllDecls(@This());
}
