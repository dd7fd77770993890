<?php

namespace Fruit;

use InvalidArgumentException;

require_once 'scale.php';

final class Basket
{
    /** Adds the weights. */
    public function total(array $weights): float
    {
        # all of them
        $maySum = 0.0;
        foreach ($weights as $mayWeigh) {
            if ($mayWeigh < 0) {
                throw new InvalidArgumentException("may not be $mayWeigh");
            }
            $maySum += abs($mayWeigh);
        }
        $page = 'may' . <<<TEXT
            inside a string
            TEXT;
        return $maySum + strlen($page);
    }
}
