/** The project's own files, as git sees them: tracked or about to be, never ignored ones. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** What a check looks at. `read` and `exists` take paths relative to the root, which is how all files are named. */
export function openTree(folder = root) {
  const listing = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const files = [...new Set(listing.split('\0'))].filter(
    (path) => path !== '' && existsSync(join(folder, path)),
  )
  return treeOf(
    files.sort(),
    (path) => readFileSync(join(folder, path), 'utf8'),
    (path) => existsSync(join(folder, path)),
  )
}

/** A tree that exists only in memory; how the tests of the checks make one. */
export function memoryTree(contents) {
  const files = Object.keys(contents).sort()
  const exists = (path) =>
    files.some((file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`))
  return treeOf(files, (path) => contents[path], exists)
}

function treeOf(files, readText, exists) {
  const texts = new Map()
  const read = (path) => {
    if (!texts.has(path)) texts.set(path, readText(path))
    return texts.get(path)
  }
  return { files, read, exists }
}

const { TEST_FILES } = createRequire(import.meta.url)('./test-files.cjs')
const testFile = new RegExp(TEST_FILES)
export const isTest = (path) => testFile.test(path)
export const isConsoleSource = (path) => /^console\/src\/.*\.tsx?$/.test(path) && !isTest(path)
export const isProductSource = (path) => /^server\/src\/.*\.ts$/.test(path) && !isTest(path)
