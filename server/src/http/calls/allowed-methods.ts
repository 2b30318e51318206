/** What the path could be asked with; none: there is no such path. The framework's router knows no path by itself. */
import type { RegisteredRoute } from '../management/route-types.ts'

export function allowedMethods(
  routes: readonly Pick<RegisteredRoute, 'method' | 'path'>[],
  path: string,
): readonly string[] {
  const asked = path.split('/')
  const methods = routes.filter((route) => isAt(route.path.split('/'), asked)).map((route) => route.method)
  // The framework answers HEAD wherever there is a GET.
  const all = new Set<string>(methods.flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : [method])))
  return [...all].sort()
}

function isAt(pattern: readonly string[], asked: readonly string[]): boolean {
  return (
    pattern.length === asked.length &&
    pattern.every((step, index) => (step.startsWith(':') ? asked[index] !== '' : step === asked[index]))
  )
}
