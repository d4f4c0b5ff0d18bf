"""Lists of products, by the database itself.

Oscar asks haystack, whose simple backend takes each condition (`is_public`, the category) for a word that the product
must contain, and so finds nothing.
"""

from django.db.models import F, Q, QuerySet
from django.shortcuts import get_object_or_404
from django.views.generic import ListView
from oscar.apps.search.forms import SearchForm
from oscar.core.loading import get_model

Category, Product = get_model("catalogue", "Category"), get_model("catalogue", "Product")

ORDERS = {
    SearchForm.TOP_RATED: (F("rating").desc(nulls_last=True), "title"),
    SearchForm.NEWEST: ("-date_created", "-pk"),
    SearchForm.PRICE_HIGH_TO_LOW: ("-stockrecords__price", "title"),
    SearchForm.PRICE_LOW_TO_HIGH: ("stockrecords__price", "title"),
    SearchForm.TITLE_A_TO_Z: ("title",),
    SearchForm.TITLE_Z_TO_A: ("-title",),
}


class CatalogueView(ListView):
    """All products, in the order asked for."""

    template_name = "oscar/catalogue/browse.html"
    context_object_name = "products"
    paginate_by = 12
    summary = "All products"

    def get_queryset(self) -> QuerySet:
        """The products, in the order asked for; else as they came into the shop."""
        order = ORDERS.get(self.request.GET.get("sort_by", ""), ("pk",))
        return Product.objects.browsable().base_queryset().order_by(*order)

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        """What oscar's templates show."""
        return super().get_context_data(form=SearchForm(self.request.GET), summary=self.summary, **kwargs)


class ProductCategoryView(CatalogueView):
    """The products of a category and those below it."""

    template_name = "oscar/catalogue/category.html"

    def get_queryset(self) -> QuerySet:
        """Those of the category."""
        self.category = get_object_or_404(Category, pk=self.kwargs["pk"])
        return super().get_queryset().filter(categories__in=self.category.get_descendants_and_self())

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        """With the category."""
        return super().get_context_data(category=self.category, **kwargs)


class FacetedSearchView(CatalogueView):
    """The products whose title or description has all words that were searched for."""

    def get_queryset(self) -> QuerySet:
        """Those found."""
        query = self.request.GET.get("q", "").strip()
        self.summary = f'Products matching "{query}"'
        found = super().get_queryset()
        for word in query.split():
            found = found.filter(Q(title__icontains=word) | Q(description__icontains=word) | Q(upc=word))
        return found if query else found.none()
