/**
 * Asks servers that rest for something forty times a second, so that none of them idles: see bench/measure/awake.ts. Its argument is
 * JSON with their URLs and paths; each line of its input is a JSON list of URLs that are loaded until the next. Ends with its
 * input.
 */
const RATE = 40;
/** Long enough that those loaded now and then need no asking. */
const REST_MS = 3_000;
const { urls, paths } = JSON.parse(process.argv[2] as string) as { urls: string[]; paths: string[] };
let loaded: string[] = [];
const lastLoaded = new Map<string, number>();

async function ask(url: string): Promise<never> {
  for (let n = 0; ; n++) {
    if (!loaded.includes(url) && performance.now() - (lastLoaded.get(url) ?? 0) > REST_MS) {
      await fetch(url + paths[n % paths.length]).then(
        (response) => response.arrayBuffer(),
        () => null, // one that has ended is said by those who measure it
      );
    }
    await Bun.sleep(1_000 / RATE);
  }
}

for (const url of urls) ask(url);
for await (const line of console) {
  for (const url of loaded) lastLoaded.set(url, performance.now());
  loaded = JSON.parse(line) as string[];
}
process.exit();
