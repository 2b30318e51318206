import { build } from 'esbuild'

/**
 * A TypeScript program of the tree as one file that every supported Node runs: for tools, benchmarks and pictures.
 * @param source `{ entryPoints: [path] }`, or `{ stdin }` as esbuild has it
 * @param outfile where it is to lie: from there its packages are found, and the product's threads beside it
 */
export async function bundleProgram(source, outfile) {
  await build({
    ...source,
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: 'inline',
    logLevel: 'warning',
  })
}
