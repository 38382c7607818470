"""The trained map: on disk, as a raster, and in the formats that map software opens."""
