import { useEffect, useState } from 'react'

/** An address of the page's own for what came as bytes; undefined until there is one. Forgotten with the component. */
export function useObjectUrl(blob: Blob): string | undefined {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const made = URL.createObjectURL(blob)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [blob])
  return url
}
