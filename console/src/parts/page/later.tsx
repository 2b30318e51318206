import { type ReactNode, startTransition, useEffect, useState } from 'react'

/** What it contains is rendered after the rest of the page, in short tasks between which the browser stays responsive. */
export function Later({ children }: { readonly children: () => ReactNode }) {
  const [isTime, setTime] = useState(false)
  useEffect(() => startTransition(() => setTime(true)), [])
  return isTime ? children() : null
}
