/** core/ is pure. The import rules keep packages out; this keeps out what needs no import (docs/architecture.md). */
import { lineOf, syntaxOf, typescript, walk } from '../project/syntax.mjs'
import { isProductSource } from '../project/tree.mjs'

export function checkCorePurity(tree) {
  return tree.files
    .filter((file) => file.startsWith('server/src/core/') && isProductSource(file))
    .flatMap((file) => {
      const source = syntaxOf(tree, file)
      const findings = []
      walk(source, (node) => {
        const message = impurityOf(node)
        if (message !== undefined) findings.push({ file, line: lineOf(source, node), message })
      })
      return findings
    })
}

function impurityOf(node) {
  if (node.kind === typescript.SyntaxKind.AsyncKeyword || typescript.isAwaitExpression(node)) {
    return 'core/ never waits; let the stage around it await and pass the value in'
  }
  if (
    typescript.isNewExpression(node) &&
    node.expression.getText() === 'Date' &&
    (node.arguments?.length ?? 0) === 0
  ) {
    return 'core/ has no clock; pass the time in'
  }
  if (typescript.isCallExpression(node) && node.expression.kind === typescript.SyntaxKind.ImportKeyword) {
    return 'core/ loads nothing while it computes; import at the top'
  }
  return undefined
}
