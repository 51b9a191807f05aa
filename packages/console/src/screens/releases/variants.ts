/** A text such as `1.0.0 (2 variants)`: targets with this version have other versions of its parts. */
export const variantsText = (version: string, variants = 1): string =>
  variants < 2 ? version : `${version} (${variants.toLocaleString()} variants)`
