import { mkdtempSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleProgram } from './bundle-program.mjs'
import { root } from './tree.mjs'

/**
 * Bundles a program of the tests and imports it, so that the sources may change meanwhile. It lies beside its source, from
 * where its packages are found, until the process ends.
 * @param path of the source, from the root of the tree
 */
export async function loadTestProgram(path) {
  const source = join(root, path)
  const folder = mkdtempSync(join(dirname(source), '.fuzz-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  const outfile = join(folder, basename(source, '.ts').concat('.mjs'))
  await bundleProgram({ entryPoints: [source] }, outfile)
  return import(pathToFileURL(outfile).href)
}
