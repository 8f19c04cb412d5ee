package benchmark.spring.content;

/**
 * What the JSON of a request says.
 *
 * @param value as {@link Json} has it
 */
record Body(Object value) {}
