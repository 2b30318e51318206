/** Reads TypeScript as a tree of nodes, for the checks that look at code rather than text. */
import typescript from 'typescript'

const trees = new WeakMap()

/** The syntax tree of one file; parsed once per tree of files. */
export function syntaxOf(tree, path) {
  const known = trees.get(tree) ?? new Map()
  trees.set(tree, known)
  if (!known.has(path)) {
    const kind = kindOf(path)
    known.set(
      path,
      typescript.createSourceFile(path, tree.read(path), typescript.ScriptTarget.Latest, true, kind),
    )
  }
  return known.get(path)
}

function kindOf(path) {
  if (path.endsWith('.tsx')) return typescript.ScriptKind.TSX
  return path.endsWith('.ts') ? typescript.ScriptKind.TS : typescript.ScriptKind.JS
}

/** Calls `visit` for every node below `node`, parents first. */
export function walk(node, visit) {
  visit(node)
  typescript.forEachChild(node, (child) => walk(child, visit))
}

export const lineOf = (source, node) => source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
export const endLineOf = (source, node) => source.getLineAndCharacterOfPosition(node.getEnd()).line + 1
export { typescript }
