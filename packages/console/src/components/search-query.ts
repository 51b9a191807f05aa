/** The part of a query that searches. The API refuses an empty text. */
export const searchQuery = (text: string | undefined): { search?: string } => {
  const search = text?.trim()
  return search ? { search } : {}
}
