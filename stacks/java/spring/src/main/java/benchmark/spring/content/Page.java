package benchmark.spring.content;

import java.util.List;

/**
 * Some contents in the order of their ids.
 *
 * @param next what the next page is after, null where there is none
 */
record Page(List<Content> items, String next) {

  /** Of contents of which there is one more than the limit if there is a next page. */
  static Page of(List<Content> contents, int limit) {
    if (contents.size() <= limit) {
      return new Page(contents, null);
    }
    List<Content> items = contents.subList(0, limit);
    return new Page(items, items.get(limit - 1).id());
  }
}
