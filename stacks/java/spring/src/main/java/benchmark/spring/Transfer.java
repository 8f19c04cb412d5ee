package benchmark.spring;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;

/** Moves delta to an account, a teller and a branch. */
record Transfer(
    @NotNull @Min(1) Integer aid,
    @NotNull @Min(1) Integer tid,
    @NotNull @Min(1) Integer bid,
    @NotNull @Min(-5_000) @Max(5_000) Integer delta) {}
