/**
 * Asks servers for something a hundred times a second, so that none of them idles: see bench/awake.ts. Its argument is JSON
 * with their URLs and paths; each line of its input is a JSON list of URLs to leave alone until the next. Ends with its input.
 */
const RATE = 100;
const { urls, paths } = JSON.parse(process.argv[2] as string) as { urls: string[]; paths: string[] };
let leftAlone = new Set<string>();

async function ask(url: string): Promise<never> {
  for (let n = 0; ; n++) {
    if (!leftAlone.has(url)) {
      await fetch(url + paths[n % paths.length]).then(
        (response) => response.arrayBuffer(),
        () => null, // one that has ended is said by those who measure it
      );
    }
    await Bun.sleep(1_000 / RATE);
  }
}

for (const url of urls) ask(url);
for await (const line of console) leftAlone = new Set(JSON.parse(line) as string[]);
process.exit();
