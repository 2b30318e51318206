/**
 * A stage and a route take what they use (docs/architecture.md): a signature that names the whole pipeline says nothing of
 * what a function touches, and whoever tests it has to make all of it.
 */
import { lineOf, syntaxOf, typescript, walk } from '../project/syntax.mjs'
import { isProductSource } from '../project/tree.mjs'

/** Each with those who may hold it whole, because they make it or hand its parts on. */
const WHOLE = new Map([
  ['Pipeline', /^server\/src\/(app\/|pipeline\/(context|create-pipeline)\.ts$)/],
  ['ApiContext', /^server\/src\/http\/management\/(api|api-context)\.ts$/],
])

export function checkNarrowHands(tree) {
  return tree.files.filter(isProductSource).flatMap((file) => {
    const source = syntaxOf(tree, file)
    const findings = []
    walk(source, (node) => {
      const name = holdsWhole(node)
      if (name === undefined || WHOLE.get(name).test(file)) return
      findings.push({
        file,
        line: lineOf(source, node),
        message: `takes the whole ${name}; name what is used of it: Pick<${name}, …> or the type of what it calls`,
      })
    })
    return findings
  })
}

/** Of a parameter, a field or a property: which of them its type is, alone or as one of several. */
function holdsWhole(node) {
  const declares =
    typescript.isParameter(node) ||
    typescript.isPropertySignature(node) ||
    typescript.isPropertyDeclaration(node)
  if (!declares || node.type === undefined) return undefined
  const types = typescript.isUnionTypeNode(node.type) ? node.type.types : [resultOf(node.type)]
  return types
    .filter((type) => typescript.isTypeReferenceNode(type))
    .map((type) => type.getText())
    .find((name) => WHOLE.has(name))
}

function resultOf(type) {
  return typescript.isFunctionTypeNode(type) ? type.type : type
}
