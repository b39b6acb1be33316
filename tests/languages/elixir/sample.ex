defmodule Shop.Orders do
  @moduledoc """
  Orders and their lines.
  """

  alias Shop.Line
  import Ecto.Query, only: [from: 2]

  @limit 10
  @type t :: %__MODULE__{lines: [Line.t()]}
  @typep state :: :open | {:paid, integer}
  @callback price(Line.t()) :: integer

  defstruct lines: [], state: :open

  defguard is_late(days) when is_integer(days) and days > @limit

  @doc "What is to be paid."
  @spec total(t()) :: integer
  def total(%__MODULE__{lines: lines}) do
    lines
    |> Enum.map(fn line -> line.price * line.count end)
    |> Enum.sum()
  end

  def add(order, line, opts \\ [])

  def add(%{state: :open} = order, line, opts) when is_map(line) do
    lines = [line | order.lines]
    if opts[:log], do: IO.puts("added #{inspect(line)}")
    %{order | lines: lines}
  end

  def add(order, _line, _opts), do: {:error, order}

  defp price(nil), do: 0
  defp price(line), do: line.price

  defmacro unless_paid(order, do: block) do
    quote do
      case unquote(order) do
        %{state: {:paid, _}} -> :ok
        _ -> unquote(block)
      end
    end
  end

  defdelegate fetch(order, key), to: Map

  def a <~> b, do: {a, b}

  defmodule Error do
    defexception [:message]
  end

  defp words, do: ~w(one two three)
end

defprotocol Shop.Priced do
  @doc "In cents."
  def price(thing)
end

defimpl Shop.Priced, for: Shop.Orders do
  def price(order), do: Shop.Orders.total(order)
end

config = %{limit: 10}
IO.inspect(config)

defmodule Shop.OrdersTest do
  use ExUnit.Case, async: true

  setup do
    {:ok, order: %Shop.Orders{}}
  end

  describe "add/3" do
    test "keeps the line", %{order: order} do
      assert Shop.Orders.add(order, %{price: 1}).lines != []
    end

    test "refuses what is paid" do
      refute Shop.Orders.add(%{state: :paid}, nil) == :ok
    end
  end
end
