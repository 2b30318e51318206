import { type ComponentType, type LazyExoticComponent, lazy } from 'react'

/** A component whose chunk is loaded when it is first rendered; the `Suspense` around it has the fallback. */
export function late<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: await load() }))
}
