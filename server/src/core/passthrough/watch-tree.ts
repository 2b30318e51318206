import { createWordTable, type WordTable } from './word-table.ts'

/** A node of the tree of paths that the scanner watches. `watch` -1: only on the way to a watched place. */
export interface WatchNode {
  readonly watch: number
  /** The value's bytes are wanted, not only its position. */
  readonly wanted: boolean
  /** Members of an object, by name. */
  readonly keys: WordTable<WatchNode> | undefined
  /** Every element of an array. */
  readonly items: WatchNode | undefined
}

/**
 * Compiles the tree the scanner follows. A path is written `choices[].delta.content`; `''` is the root, `[]` the
 * elements of a root array. Names may not hold `.` or `[`. The number given with a path is reported with every value
 * found there; `wanted` says that the value's bytes will be read, so a cut one is kept until it is whole. `looksAlike`:
 * names beside the root's own that differ from them in case alone are noted (`JsonScanner.lookAlike`).
 */
export function compileWatchTree(
  paths: Iterable<WatchedPath>,
  { looksAlike = false }: { readonly looksAlike?: boolean } = {},
): WatchNode {
  const root = draft()
  for (const { path, watch, wanted } of paths) {
    let node = root
    for (const step of path.match(/\[\]|[^.[\]]+/g) ?? []) {
      if (step === '[]') {
        node.items ??= draft()
        node = node.items
      } else {
        const child: Draft = node.keys.get(step) ?? draft()
        node.keys.set(step, child)
        node = child
      }
    }
    node.watch = watch
    node.wanted = wanted
  }
  return freeze(root, looksAlike)
}

export interface WatchedPath {
  readonly path: string
  readonly watch: number
  readonly wanted: boolean
}

interface Draft {
  watch: number
  wanted: boolean
  readonly keys: Map<string, Draft>
  items: Draft | undefined
}

function draft(): Draft {
  return { watch: -1, wanted: false, keys: new Map(), items: undefined }
}

function freeze(node: Draft, looksAlike: boolean): WatchNode {
  const children = [...node.keys].map(([name, child]) => [name, freeze(child, false)] as const)
  return {
    watch: node.watch,
    wanted: node.wanted,
    keys: children.length === 0 ? undefined : createWordTable(children, { looksAlike }),
    items: node.items === undefined ? undefined : freeze(node.items, false),
  }
}
