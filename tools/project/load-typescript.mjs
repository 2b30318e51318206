/** Imports a TypeScript file of the product into a tool, on Node versions that cannot do it alone. */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleProgram } from './bundle-program.mjs'
import { root } from './tree.mjs'

/** The bundle lies below `node_modules` for the moment of the import, so that its packages are found from there. */
export async function loadTypeScript(path) {
  const folder = mkdtempSync(join(root, 'node_modules/.sluice-'))
  const outfile = join(folder, 'module.mjs')
  try {
    await bundleProgram({ entryPoints: [path] }, outfile)
    return await import(pathToFileURL(outfile).href)
  } catch (error) {
    if (!Array.isArray(error.errors)) throw error
    // esbuild has shown the place; what this tool was asked for cannot be told before it is mended.
    console.error(`${path} does not build`)
    rmSync(folder, { recursive: true, force: true })
    process.exit(1)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
