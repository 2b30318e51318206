import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, Outlet, retainSearchParams } from '@tanstack/react-router'
import { present, textField } from '../parts/lists/search-fields.ts'
import { NotFound } from './not-found.tsx'

export interface RouterContext {
  readonly queryClient: QueryClient
}

/** `org` is kept on every navigation: the active organisation is part of every address. */
export const rootRoute = createRootRouteWithContext<RouterContext>()({
  // An explicit undefined removes it; an absent member leaves it unchanged.
  validateSearch: (search: Record<string, unknown>): { org?: string | undefined } =>
    present({ org: textField(search['org']) }),
  search: { middlewares: [retainSearchParams(['org'])] },
  component: Outlet,
  notFoundComponent: NotFound,
})
