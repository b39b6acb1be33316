using System;
using System.Collections.Generic;

namespace Shop.Orders
{
    /// <summary>An order and its lines.</summary>
    [Serializable]
    public sealed class Order : IComparable<Order>
    {
        private const int Limit = 10;
        private static readonly TimeSpan Patience = TimeSpan.FromSeconds(3), Grace = TimeSpan.Zero;
        private readonly List<Line> lines = new();

        public event EventHandler Changed;

        public Order(IEnumerable<Line> lines)
        {
            this.lines.AddRange(lines);
        }

        static Order() { }

        ~Order()
        {
            Changed = null;
        }

        public int Count => lines.Count;

        public string Name { get; set; } = "none";

        public long Total
        {
            get
            {
                long sum = 0;
                foreach (var line in lines)
                {
                    sum += line.Price;
                }
                return sum;
            }
        }

        public Line this[int index]
        {
            get => lines[index];
            set => lines[index] = value;
        }

        public event EventHandler Paid
        {
            add { Changed += value; }
            remove { Changed -= value; }
        }

        public void Add(Line line) => lines.Add(line);

        public void Add(string name, ref int count, params long[] prices)
        {
            foreach (var price in prices)
            {
                int Doubled(int n)
                {
                    return n * 2;
                }
                Add(new Line(name, Doubled(count), price));
            }
        }

        public T Find<T>(Func<Line, bool> test, out T found, int from = 0) where T : Line
        {
            found = (T)lines.Find(line => test(line));
            return found;
        }

        int IComparable<Order>.CompareTo(Order other) => Total.CompareTo(other.Total);

        public static Order operator +(Order left, Order right) => new Order(left.lines);

        public static implicit operator long(Order order) => order.Total;

        public class Inner
        {
            public void Run() { }
        }
    }

    public record Line(string Name, int Count, long Price)
    {
        public long Sum() => Count * Price;
    }

    public readonly record struct Money(long Cents);

    public struct Point
    {
        public int X, Y;

        public double Length() => Math.Sqrt(X * X + Y * Y);
    }

    public interface IPriced
    {
        long Price { get; }

        string Shown(string unit = "cents");
    }

    public enum State
    {
        Open,
        Paid = 4,
    }

    public delegate void Handler<T>(object sender, T value);

    public static class Extensions
    {
        public static bool IsEmpty(this string text) => text.Length == 0;
    }
}
