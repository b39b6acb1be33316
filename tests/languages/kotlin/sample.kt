@file:JvmName("Orders")

package shop.orders

import kotlin.math.max

const val LIMIT = 10
var running = false
val shown: String
    get() = "running: $running"

typealias Handler = (String) -> Unit

/** An order and its lines. */
@Serializable
class Order(private val lines: List<Line>, val name: String = "none") : Comparable<Order>, Priced {
    constructor(line: Line) : this(listOf(line)) {
        check(line.count > 0)
    }

    init {
        require(lines.size < LIMIT) { "too many" }
    }

    val count: Int = lines.size

    val total: Long
        get() = lines.sumOf { it.price * it.count }

    var state: State = State.OPEN
        private set(value) {
            field = value
        }

    val lazyName by lazy { name.trim() }

    override fun compareTo(other: Order): Int = total.compareTo(other.total)

    fun add(line: Line) {
        println(line)
    }

    fun add(name: String, count: Int = 1, vararg prices: Long, then: (Line) -> Unit) {
        fun doubled(n: Int): Int {
            return n * 2
        }
        for (price in prices) {
            then(Line(name, doubled(count), price))
        }
    }

    operator fun get(index: Int) = lines[index]

    companion object {
        const val SCALE = 2

        fun load(path: String): Order = Order(emptyList())
    }

    inner class Cursor {
        fun next() {}
    }
}

data class Line(val name: String, val count: Int, val price: Long)

interface Priced {
    val scale: Int

    fun price(): Long = 0
}

fun interface Rule {
    fun check(order: Order): Boolean
}

enum class State(val code: Int) {
    OPEN(1),
    PAID(2) {
        override fun isDone() = true
    };

    open fun isDone() = false
}

sealed class Event {
    object Created : Event()
    data object Closed : Event() {
        fun at() = 1L
    }
}

object Registry {
    private val orders = mutableMapOf<String, Order>()

    fun find(name: String): Order? = orders[name]
}

suspend fun <T : Priced> List<T>.cheapest(limit: Long? = null): T? = minByOrNull { it.price() }

fun String.shout() = uppercase()

fun Int.shout() = toString()

val String.lastChar: Char
    get() = this[length - 1]

class OrderSpec : DescribeSpec({
    describe("order") {
        it("is empty") {
            1 shouldBe 1
        }
    }
})
