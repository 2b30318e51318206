import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, Outlet, retainSearchParams } from '@tanstack/react-router'
import { present, textField } from '../parts/lists/search-fields.ts'
import { NotFound } from './not-found.tsx'

export interface RouterContext {
  readonly queryClient: QueryClient
}

/** `org` goes along everywhere: the organisation one acts for is part of every address. */
export const rootRoute = createRootRouteWithContext<RouterContext>()({
  // undefined, said outright, takes it away: what is only not there stays as it is.
  validateSearch: (search: Record<string, unknown>): { org?: string | undefined } =>
    present({ org: textField(search['org']) }),
  search: { middlewares: [retainSearchParams(['org'])] },
  component: Outlet,
  notFoundComponent: NotFound,
})
