package benchmark.spring.content;

import java.io.StringWriter;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.io.NumberOutput;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;

/**
 * JSON as JavaScript reads and writes it, by Jackson: every number is a double, keys that are
 * indices of arrays come first, and halves of surrogate pairs are kept. Values are Map, List,
 * String, Double, Boolean and null.
 */
final class Json {
  /** Nothing in a body is longer or deeper than the body may be. */
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(BodyReader.MAX_BYTES)
                  .maxNumberLength(BodyReader.MAX_BYTES)
                  .maxNameLength(BodyReader.MAX_BYTES)
                  .build())
          .disable(JsonWriteFeature.WRITE_HEX_UPPER_CASE)
          .build();

  /** A surrogate in a pair is none to a pattern, which sees the character. */
  private static final Pattern HALF_OF_PAIR = Pattern.compile("[\\x{d800}-\\x{dfff}]");

  private static final Pattern INDEX = Pattern.compile("0|[1-9][0-9]{0,9}");
  private static final long NO_INDEX = 0xffff_ffffL;

  private Json() {}

  /**
   * Reads one value, without recursion however deep it is.
   *
   * @throws Refusal where the text is not JSON
   */
  static Object parse(String text) {
    List<Object> values = new ArrayList<>(1);
    Deque<Object> open = new ArrayDeque<>();
    open.push(values);
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        if (token.isStructEnd()) {
          open.pop();
        } else if (token != JsonToken.PROPERTY_NAME) {
          Object value = valueOf(token, parser);
          add(open.element(), parser.currentName(), value);
          if (token.isStructStart()) {
            open.push(value);
          }
        }
      }
    } catch (JacksonException e) {
      throw Refusal.NOT_JSON;
    }
    if (values.size() != 1) {
      throw Refusal.NOT_JSON;
    }
    return values.get(0);
  }

  private static Object valueOf(JsonToken token, JsonParser parser) {
    return switch (token) {
      case START_OBJECT -> new LinkedHashMap<String, Object>();
      case START_ARRAY -> new ArrayList<>();
      case VALUE_STRING -> parser.getString();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> Double.valueOf(parser.getString());
    };
  }

  @SuppressWarnings("unchecked")
  private static void add(Object container, String name, Object value) {
    if (container instanceof Map<?, ?>) {
      ((Map<String, Object>) container).put(name, value);
    } else {
      ((List<Object>) container).add(value);
    }
  }

  /** The keys of an object in the order of JavaScript. */
  static List<String> keys(Map<?, ?> object) {
    return object.keySet().stream()
        .map(String.class::cast)
        .sorted(Comparator.comparingLong(Json::index))
        .toList();
  }

  private static long index(String key) {
    return INDEX.matcher(key).matches() ? Math.min(Long.parseLong(key), NO_INDEX) : NO_INDEX;
  }

  static boolean isShallow(Object value, int levels) {
    Collection<?> parts;
    if (value instanceof Map<?, ?> object) {
      parts = object.values();
    } else if (value instanceof List<?> array) {
      parts = array;
    } else {
      return true;
    }
    return levels > 0 && parts.stream().allMatch(part -> isShallow(part, levels - 1));
  }

  /** Writes a value as JSON.stringify does. */
  static String stringify(Object value) {
    StringWriter text = new StringWriter();
    try (JsonGenerator generator = FACTORY.createGenerator(ObjectWriteContext.empty(), text)) {
      write(generator, value);
    }
    return HALF_OF_PAIR
        .matcher(text.toString())
        .replaceAll(half -> "\\\\u%04x".formatted((int) half.group().charAt(0)));
  }

  private static void write(JsonGenerator generator, Object value) {
    if (value instanceof Map<?, ?> object) {
      generator.writeStartObject();
      for (String key : keys(object)) {
        generator.writeName(key);
        write(generator, object.get(key));
      }
      generator.writeEndObject();
    } else if (value instanceof List<?> array) {
      generator.writeStartArray();
      for (Object part : array) {
        write(generator, part);
      }
      generator.writeEndArray();
    } else if (value instanceof String text) {
      generator.writeString(text);
    } else if (value instanceof Boolean truth) {
      generator.writeBoolean(truth);
    } else if (value instanceof Double number && Double.isFinite(number)) {
      generator.writeNumber(digits(number));
    } else {
      generator.writeNull();
    }
  }

  /** A number as ECMAScript writes it: the fewest digits that are the same double. */
  private static String digits(double number) {
    if (number == (long) number && Math.abs(number) < 1e15) {
      return Long.toString((long) number); // also for -0
    }
    BigDecimal decimal = new BigDecimal(NumberOutput.toString(number, true)).stripTrailingZeros();
    BigDecimal shorter = decimal.round(new MathContext(1));
    if (shorter.doubleValue() == number) {
      decimal = shorter; // Java writes at least two: 4.9E-324
    }
    int exponent = decimal.precision() - decimal.scale() - 1;
    return exponent < -6 || exponent > 20
        ? decimal.toString().toLowerCase(Locale.ROOT)
        : decimal.toPlainString();
  }
}
