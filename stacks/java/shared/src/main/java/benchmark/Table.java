package benchmark;

import java.util.Locale;

/** The tables of data.db. */
public enum Table {
  PERSON5,
  PERSON30;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
