defmodule Benchmark.EcmaJson do
  @moduledoc """
  The content API keeps any JSON, and answers what JSON.parse and JSON.stringify of JavaScript make of it.

  An object is `{:object, members}`, in the order of JavaScript. Numbers too large are `:infinity`. Halves of surrogate
  pairs are kept in strings as UTF-8 would write them if it could, which makes these strings invalid.
  """

  import Bitwise

  @space ~c" \t\r\n"
  @number ~r/\A-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][+-]?\d++)?/
  # Of an integer that a number of JavaScript holds whatever its digits.
  @safe_digits 15
  @max_index 0xFFFFFFFE

  @doc "Returns `{:ok, value}`, or `:error` for what RFC 8259 does not allow."
  def decode(bytes) do
    text = bytes |> String.replace_prefix("\uFEFF", "") |> String.replace_invalid()

    case value(skip(text)) do
      {value, rest} -> if skip(rest) == "", do: {:ok, value}, else: :error
    end
  catch
    :invalid -> :error
  end

  @doc "Writes what `decode` has returned, as iodata; maps are objects whose order does not matter."
  def encode({:object, members}), do: object(members)
  def encode(%{} = map), do: object(Map.to_list(map))
  def encode([]), do: "[]"
  def encode(list) when is_list(list), do: [?[, list |> Enum.map(&encode/1) |> Enum.intersperse(?,), ?]]
  def encode(nil), do: "null"
  def encode(:infinity), do: "null"
  def encode(boolean) when is_boolean(boolean), do: Atom.to_string(boolean)
  def encode(text) when is_binary(text), do: [?", escape(text), ?"]
  def encode(integer) when is_integer(integer), do: Integer.to_string(integer)
  def encode(float) when is_float(float), do: float(float)
  def encode({:json, text}), do: text

  @doc "Whether a value is nested at most so many levels deep."
  def shallow?({:object, members}, levels),
    do: levels > 0 and Enum.all?(members, fn {_, part} -> shallow?(part, levels - 1) end)

  def shallow?(list, levels) when is_list(list), do: levels > 0 and Enum.all?(list, &shallow?(&1, levels - 1))
  def shallow?(_, _), do: true

  @doc "A text that UTF-8 can hold, with U+0000 for each half of a surrogate pair."
  def replace_halves(text) do
    if String.valid?(text), do: text, else: replace_halves(text, "")
  end

  defp replace_halves(<<0xED, a, _, rest::binary>>, done) when a in 0xA0..0xBF,
    do: replace_halves(rest, <<done::binary, 0>>)

  defp replace_halves(<<byte, rest::binary>>, done), do: replace_halves(rest, <<done::binary, byte>>)
  defp replace_halves("", done), do: done

  # decoding

  defp skip(<<char, rest::binary>>) when char in @space, do: skip(rest)
  defp skip(text), do: text

  defp value("{" <> rest) do
    case skip(rest) do
      "}" <> rest -> {{:object, []}, rest}
      rest -> members(rest, [])
    end
  end

  defp value("[" <> rest) do
    case skip(rest) do
      "]" <> rest -> {[], rest}
      rest -> items(rest, [])
    end
  end

  defp value("\"" <> rest), do: string(rest, rest, 0, [])
  defp value("true" <> rest), do: {true, rest}
  defp value("false" <> rest), do: {false, rest}
  defp value("null" <> rest), do: {nil, rest}

  defp value(text) do
    case Regex.run(@number, text, return: :index) do
      [{0, length}] ->
        <<digits::binary-size(^length), rest::binary>> = text
        {number(digits), rest}

      nil ->
        throw(:invalid)
    end
  end

  defp items(text, done) do
    {item, rest} = value(text)

    case skip(rest) do
      "," <> rest -> items(skip(rest), [item | done])
      "]" <> rest -> {Enum.reverse([item | done]), rest}
      _ -> throw(:invalid)
    end
  end

  defp members("\"" <> rest, done) do
    {key, rest} = string(rest, rest, 0, [])
    {member, rest} = rest |> skip() |> colon() |> skip() |> value()

    case skip(rest) do
      "," <> rest -> members(skip(rest), [{key, member} | done])
      "}" <> rest -> {{:object, ordered(Enum.reverse([{key, member} | done]))}, rest}
      _ -> throw(:invalid)
    end
  end

  defp members(_, _), do: throw(:invalid)

  defp colon(":" <> rest), do: rest
  defp colon(_), do: throw(:invalid)

  # Of a key that comes twice the last value counts, at the place of the first. Indices come before all other keys.
  defp ordered(members) do
    values = Map.new(members)
    unique = members |> Enum.uniq_by(&elem(&1, 0)) |> Enum.map(fn {key, _} -> {key, Map.fetch!(values, key)} end)
    {indices, names} = Enum.split_with(unique, fn {key, _} -> index?(key) end)
    Enum.sort_by(indices, fn {key, _} -> String.to_integer(key) end) ++ names
  end

  defp index?(key), do: key =~ ~r/\A(?:0|[1-9]\d{0,9})\z/ and String.to_integer(key) <= @max_index

  # `text` starts where the part that is being read does, which is `length` bytes long so far.
  defp string(text, <<?", rest::binary>>, length, done) do
    {IO.iodata_to_binary([done | binary_part(text, 0, length)]), rest}
  end

  defp string(text, <<?\\, rest::binary>>, length, done) do
    {character, rest} = escaped(rest)
    string(rest, rest, 0, [done, binary_part(text, 0, length) | character])
  end

  defp string(text, <<char, rest::binary>>, length, done) when char >= 0x20, do: string(text, rest, length + 1, done)
  defp string(_, _, _, _), do: throw(:invalid)

  for {letter, character} <- [
        {?", "\""},
        {?\\, "\\"},
        {?/, "/"},
        {?b, "\b"},
        {?f, "\f"},
        {?n, "\n"},
        {?r, "\r"},
        {?t, "\t"}
      ] do
    defp escaped(<<unquote(letter), rest::binary>>), do: {unquote(character), rest}
  end

  defp escaped(<<?u, digits::binary-size(4), rest::binary>>) do
    case unit(digits) do
      high when high in 0xD800..0xDBFF -> pair(high, rest)
      unit -> {wide(unit), rest}
    end
  end

  defp escaped(_), do: throw(:invalid)

  defp pair(high, <<"\\u", digits::binary-size(4), rest::binary>> = all) do
    case unit(digits) do
      low when low in 0xDC00..0xDFFF -> {<<0x10000 + ((high &&& 0x3FF) <<< 10) + (low &&& 0x3FF)::utf8>>, rest}
      _ -> {wide(high), all}
    end
  end

  defp pair(high, rest), do: {wide(high), rest}

  defp unit(digits) do
    if digits =~ ~r/\A[0-9a-fA-F]{4}\z/, do: String.to_integer(digits, 16), else: throw(:invalid)
  end

  defp wide(half) when half in 0xD800..0xDFFF,
    do: <<0b1110::4, half >>> 12::4, 0b10::2, half >>> 6::6, 0b10::2, half::6>>

  defp wide(unit), do: <<unit::utf8>>

  defp number(digits) do
    if digits =~ ~r/\A-?\d{1,#{@safe_digits}}\z/, do: String.to_integer(digits), else: decimal(digits)
  end

  # Erlang reads no float without a fraction, nor one that is too large or too small for it.
  defp decimal(digits) do
    [mantissa | exponent] = String.split(digits, ["e", "E"])
    mantissa = if String.contains?(mantissa, "."), do: mantissa, else: mantissa <> ".0"

    try do
      String.to_float(Enum.join([mantissa | exponent], "e"))
    rescue
      ArgumentError -> if match?(["-" <> _], exponent), do: 0, else: :infinity
    end
  end

  # encoding

  defp object(members) do
    [?{, members |> Enum.map(fn {key, value} -> [encode(key), ?: | encode(value)] end) |> Enum.intersperse(?,), ?}]
  end

  defp escape(text), do: escape(text, text, 0, [])

  defp escape(text, <<char, rest::binary>>, length, done) when char < 0x20 or char in [?", ?\\] do
    escape(rest, rest, 0, [done, binary_part(text, 0, length) | shown(char)])
  end

  defp escape(text, <<0xED, a, b, rest::binary>>, length, done) when a in 0xA0..0xBF do
    half = 0xD000 + ((a &&& 0x3F) <<< 6) + (b &&& 0x3F)
    escape(rest, rest, 0, [done, binary_part(text, 0, length), "\\u" | hex(half)])
  end

  defp escape(text, <<_, rest::binary>>, length, done), do: escape(text, rest, length + 1, done)
  defp escape(text, "", length, done), do: [done | binary_part(text, 0, length)]

  for {letter, char} <- [{?b, ?\b}, {?f, ?\f}, {?n, ?\n}, {?r, ?\r}, {?t, ?\t}, {?", ?"}, {?\\, ?\\}] do
    defp shown(unquote(char)), do: <<?\\, unquote(letter)>>
  end

  defp shown(char), do: "\\u" <> hex(char)

  defp hex(unit), do: unit |> Integer.to_string(16) |> String.downcase() |> String.pad_leading(4, "0")

  # As Number::toString of ECMAScript writes it.
  defp float(value) when value == 0, do: "0"
  defp float(value) when value < 0, do: [?- | float(-value)]

  defp float(value) do
    {digits, point} = shortest(value)
    count = byte_size(digits)

    cond do
      point in count..21//1 -> digits <> String.duplicate("0", point - count)
      point in 1..21 -> binary_part(digits, 0, point) <> "." <> binary_part(digits, point, count - point)
      point in -5..0 -> "0." <> String.duplicate("0", -point) <> digits
      true -> exponential(digits, point - 1)
    end
  end

  defp exponential(<<first, rest::binary>>, exponent) do
    fraction = if rest == "", do: "", else: "." <> rest
    sign = if exponent > 0, do: "+", else: ""
    <<first>> <> fraction <> "e" <> sign <> Integer.to_string(exponent)
  end

  # The fewest digits that tell a float, and where its point stands before or behind the first of them.
  defp shortest(value) do
    [mantissa | exponent] = value |> :erlang.float_to_binary([:short]) |> String.split("e")
    [whole, fraction] = String.split(mantissa, ".")
    exponent = exponent |> List.first("0") |> String.to_integer()
    all = whole <> fraction
    leading = byte_size(all) - byte_size(String.trim_leading(all, "0"))
    {String.trim(all, "0"), byte_size(whole) + exponent - leading}
  end
end
