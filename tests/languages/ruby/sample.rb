# frozen_string_literal: true

require "set"

LIMIT = 10
$counter = 0

module Shop
  DEFAULT_NAME = "none"

  # An order and its lines.
  class Order < Base
    include Comparable

    STATES = %i[open paid].freeze

    attr_reader :lines

    def initialize(lines = [])
      @lines = lines
    end

    def total
      lines.sum { |line| line.price * line.count }
    end

    def add(name, count: 1, *prices, **options, &block)
      prices.each do |price|
        @lines << Line.new(name, count, price)
      end
    end

    def <=>(other)
      total <=> other.total
    end

    def [](index)
      @lines[index]
    end

    def empty? = @lines.empty?

    def name=(value)
      @name = value
    end

    def self.load(path)
      File.open(path) do |file|
        new(file.readlines)
      end
    end

    class << self
      def none
        new([])
      end
    end

    Line = Struct.new(:name, :count, :price) do
      def shown
        "#{name}: #{price}"
      end
    end

    private

    def checked
      raise ArgumentError, "empty" if empty?
    end
  end

  class Shop::Error < StandardError; end
end

def helper(text)
  text.strip
end

define_task = lambda do |name|
  puts name
end

RSpec.describe Shop::Order do
  let(:order) { described_class.new }

  describe "#total" do
    context "when empty" do
      it "is zero" do
        expect(order.total).to eq(0)
      end

      it { is_expected.to be_empty }
    end
  end
end

class OrderTest < ActiveSupport::TestCase
  test "adds a line" do
    assert true
  end
end
