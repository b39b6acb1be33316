<?php

declare(strict_types=1);

namespace Shop\Orders;

use InvalidArgumentException;

const LIMIT = 10, GRACE = 3;
define('LEGACY', 1);

/** An order and its lines. */
#[Entity]
final class Order extends Base implements Priced
{
    use Counted;

    public const STATE = 'open';
    private array $lines = [];

    public function __construct(private string $name = 'none', array $lines = [])
    {
        $this->lines = $lines;
    }

    public function total(): int
    {
        $sum = 0;
        foreach ($this->lines as $line) {
            $sum += $line->price * $line->count;
        }
        return $sum;
    }

    public static function load(string $path, int ...$rest): ?self
    {
        return new self(file($path));
    }

    abstract protected function shown(): string;

    public string $title {
        get => ucfirst($this->name);
        set(string $value) {
            $this->name = $value;
        }
    }
}

interface Priced
{
    const SCALE = 2;

    public function price(): int;
}

trait Counted
{
    private int $count = 0;

    public function count(): int
    {
        return $this->count;
    }
}

enum State: string
{
    case Open = 'o';
    case Paid = 'p';

    public function label(): string
    {
        return match ($this) {
            self::Open => 'Open',
            self::Paid => 'Paid',
        };
    }
}

function helper(string $text, &$count = 0): string
{
    function inner()
    {
        return 1;
    }
    return trim($text);
}

$handler = function (int $code) use ($text) {
    echo "code $code";
};
$double = fn(int $n) => $n * 2;

test('adds a line', function () {
    expect(true)->toBeTrue();
});

describe('order', function () {
    it('is empty', function () {
        expect([])->toBe([]);
    });
});
?>
<p><?= $text ?></p>
