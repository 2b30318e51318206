import { useEffect } from 'react'

/** The heading of a page, after which its window is named, too: tabs and the history tell pages apart by it. */
export function PageTitle({ children }: { readonly children: string }) {
  useEffect(() => {
    document.title = `${children} · Sluice`
  }, [children])
  return <h1>{children}</h1>
}
