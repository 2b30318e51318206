import { useEffect } from 'react'

/** The heading of a page, which is also the document's title. */
export function PageTitle({ children }: { readonly children: string }) {
  useEffect(() => {
    document.title = `${children} · Sluice`
  }, [children])
  return <h1>{children}</h1>
}
