/** Methods that the path accepts; none: there is no such path. The framework's router cannot look up a path alone. */
import type { RegisteredRoute } from '../management/route-types.ts'

export function allowedMethods(
  routes: readonly Pick<RegisteredRoute, 'method' | 'path'>[],
  path: string,
): readonly string[] {
  const asked = path.split('/')
  const methods = routes.filter((route) => isAt(route.path.split('/'), asked)).map((route) => route.method)
  // The framework answers HEAD for every GET route.
  const all = new Set<string>(methods.flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : [method])))
  return [...all].sort()
}

function isAt(pattern: readonly string[], asked: readonly string[]): boolean {
  return (
    pattern.length === asked.length &&
    pattern.every((step, index) => (step.startsWith(':') ? asked[index] !== '' : step === asked[index]))
  )
}
