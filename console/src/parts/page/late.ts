import { type ComponentType, type LazyExoticComponent, lazy } from 'react'

/** A component whose file is fetched when it is first shown; what is seen meanwhile is for the `Suspense` around it. */
export function late<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: await load() }))
}
