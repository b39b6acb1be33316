package shop.orders

import scala.collection.mutable

/** An order and its lines. */
final case class Order(lines: List[Line], name: String = "none") extends Ordered[Order] with Priced {
  private val limit = 10
  val Scale = 2
  var state: State = State.Open
  type Id = Long

  def this(line: Line) = this(List(line))

  def total: Long = lines.map(line => line.price * line.count).sum

  def add(line: Line): Order = copy(lines = line :: lines)

  def add(name: String, count: Int*)(implicit order: Ordering[Int]): Order = {
    def doubled(n: Int): Int = {
      n * 2
    }
    count.foldLeft(this) { (order, n) =>
      order.add(Line(name, doubled(n), 0))
    }
  }

  override def compare(other: Order): Int = total.compare(other.total)

  def +(other: Order): Order = Order(lines ++ other.lines)

  def apply[T <: Line](at: => Int, test: T => Boolean): Option[T] = None
}

case class Line(name: String, count: Int, price: Long)

object Order {
  val Limit = 10
  lazy val none: Order = Order(Nil)

  def load(path: String): Order = none

  implicit class Shown(val text: String) extends AnyVal {
    def shout: String = text.toUpperCase
  }
}

trait Priced {
  def price: Long = 0
  def unit: String
}

sealed abstract class Event
case object Created extends Event
object Closed extends Event { def at: Long = 1L }

enum State(val code: Int):
  case Open extends State(1)
  case Paid extends State(2)

  def isDone: Boolean = this == Paid

given ordering: Ordering[Line] with
  def compare(left: Line, right: Line): Int = 0

extension (text: String)
  def shout: String = text.toUpperCase
  def twice(n: Int): String = text * n

type Handler = String => Unit

val version = "1.0"
def helper(text: String): String =
  val trimmed = text.trim
  trimmed

opaque type Cents = Long

class OrderSpec extends AnyFlatSpec {
  test("adds a line") {
    assert(true)
  }

  describe("order") {
    it("is empty") {
      assert(Order(Nil).total == 0)
    }
  }

  "An order" should "be empty" in {
    assert(true)
  }
}
